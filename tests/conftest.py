"""What all tests share."""

import pytest
from consortia import make_sites

from colabel.data import Sites


@pytest.fixture
def sites() -> Sites:
    return make_sites()
