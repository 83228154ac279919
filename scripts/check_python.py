"""Stop with a clear sentence when the interpreter is too old; runs on any Python 3."""

import sys

MINIMUM = (3, 11)

if sys.version_info < MINIMUM:
    sys.exit(
        "Quarterdeck needs Python %d.%d or newer, and %s is %s\n\nhint: make PYTHON=python3.13"
        % (*MINIMUM, sys.executable, sys.version.split()[0])
    )
