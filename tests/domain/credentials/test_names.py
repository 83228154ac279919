import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.domain.credentials.names import HINTS, lowered, names_credential, word_set

CREDENTIALS = word_set(
    """
    password passwd pwd passphrase passcode secret secrets client_secret token access_token
    refresh_token id_token session_token auth_token api_key apikey x-api-key access_key private_key
    secret_key authorization proxy-authorization cookie cookies set-cookie credential credentials
    bearer connection_string dsn jwt creds signing_key encryption_key aws_secret_access_key
    coder_session_token GITHUB_TOKEN githubToken GitHubToken OPENAI_API_KEY openaiApiKey APIKey
    APIKEY Api-Key apiToken accessToken AccessToken ACCESS_TOKEN access-token clientSecret
    ClientSecret CLIENT_SECRET connectionString ConnectionString dbPassword DB_PASSWORD userpassword
    authtoken DB_PASS smtpPass password2 token_1 password_hash GITHUB_TOKEN_PROD tokenValue
    SecretString authorization_header access_tokens api_keys spring.datasource.password
"""
)

INNOCENT = word_set(
    """
    tokens max_tokens maxTokens MAX_TOKENS token_count tokenCount total_tokens input_tokens
    tokenizer token_type token_url tokens_per_second cost_per_token time_to_first_token
    progressToken next_page_token pageToken nextToken eos_token author authors authority authorId
    secretary key keys keyboard monkey turkey public_key publicKey primary_key foreign_key
    cache_key sort_key
    key_id access_key_id cookie_policy password_policy password_length passed bypass compass
    first_pass session_id has_more value name namespace description connection connected string
    bear forbearing order ordinary title
"""
)


@pytest.mark.parametrize("name", sorted(CREDENTIALS))
def test_a_name_that_says_credential_is_recognised(name: str) -> None:
    assert names_credential(name)


@pytest.mark.parametrize("name", sorted(INNOCENT))
def test_a_name_that_only_resembles_one_is_not(name: str) -> None:
    assert not names_credential(name)


@pytest.mark.parametrize("name", ["", "-", "\x00", "é", "ключ", "\ud800", "_" * 1000])
def test_a_name_without_words_names_nothing(name: str) -> None:
    assert not names_credential(name)


def test_the_end_of_a_very_long_name_is_what_counts() -> None:
    assert names_credential("a_" * 5000 + "password")


@pytest.mark.parametrize("name", sorted(CREDENTIALS))
def test_every_credential_name_has_a_hint(name: str) -> None:
    assert has_hint(name)


PIECES = word_set("my db api access token tokens pass word secret key string conn 2")


@given(
    st.lists(st.sampled_from(sorted(PIECES)), min_size=1, max_size=4),
    st.sampled_from(["", "_", "-", ".", " "]),
)
def test_no_name_is_recognised_without_a_hint(words: list[str], separator: str) -> None:
    for name in (separator.join(words), separator.join(word.title() for word in words)):
        assert has_hint(name) or not names_credential(name)


@pytest.mark.parametrize("name", ["max_tokens", "tokenizer", "key", "the key", "public_key"])
def test_common_innocent_names_have_no_hint(name: str) -> None:
    assert not has_hint(name)


@given(st.text())
def test_lower_case_keeps_every_character_in_its_place(text: str) -> None:
    assert len(lowered(text + "\u0130" + text)) == 2 * len(text) + 1


def has_hint(name: str) -> bool:
    return any(re.search(hint.pattern, lowered(name)) for hint in HINTS)
