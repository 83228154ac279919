"""How other programs are told to start this installation, for the home that is in use."""

import os
from typing import TYPE_CHECKING

from quarterdeck.client_configs.entries import HOME_VARIABLE
from quarterdeck.client_configs.launch import Launch, installed_launch

if TYPE_CHECKING:
    from quarterdeck.settings import Settings


def own_launch(settings: "Settings", *args: str) -> Launch:
    """Return the command line; only a home that is not the default one needs a variable."""
    is_usual = settings.origin_of("home") == "default"
    env = {} if is_usual else {HOME_VARIABLE: str(settings.home)}
    return installed_launch(os.environ).then(*args, env=env)
