"""How a credential is recognised: by its name, by its own form, by what assigns it."""
