"""What all tests share."""

import pytest

from colabel.data import Sites
from consortia import make_sites


@pytest.fixture
def sites() -> Sites:
    return make_sites()
