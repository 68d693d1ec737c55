"""How long is left, and how it is said."""

import pytest

from rota.recipes.time_left import Pace, in_words, seconds_left


def test_nothing_is_known_before_anything_has_happened() -> None:
    assert seconds_left([Pace("a"), Pace("b", seconds=3.0, epochs=0.01)], 8, 2) is None


def test_nothing_is_left_when_all_are_done() -> None:
    assert seconds_left([Pace("a", 9.0, 3, 3), Pace("b", 0.0, 0, 5)], 8, 2) == 0


def test_one_at_a_time_it_is_the_sum_of_the_rest() -> None:
    """Two seconds an epoch; the first had five of eight epochs, and so will the others."""
    trainings = [Pace("a", 10.0, 5, 5), Pace("a", 3.0, 1.5), Pace("a")]
    pace = 13.0 / 6.5
    assert seconds_left(trainings, 8, 1) == pytest.approx((5 - 1.5) * pace + 5 * pace)


def test_each_arm_has_its_own_pace() -> None:
    trainings = [Pace("slow", 40.0, 4, 4), Pace("fast", 4.0, 4, 4), Pace("fast"), Pace("slow"), Pace("new")]
    new = 44.0 / 8 * 4
    assert seconds_left(trainings, 8, 1) == pytest.approx(4 + 40 + new)


def test_several_at_once_share_the_rest() -> None:
    trainings = [Pace("a", 2.0, 2, 2), *[Pace("a") for _ in range(5)]]
    assert seconds_left(trainings, 2, 1) == pytest.approx(10)
    assert seconds_left(trainings, 2, 2) == pytest.approx(6)
    assert seconds_left(trainings, 2, 9) == pytest.approx(2)


def test_until_one_is_done_each_is_taken_to_have_all_epochs() -> None:
    assert seconds_left([Pace("a", 3.0, 1.0), Pace("a")], 8, 2) == pytest.approx(24)


def test_one_that_lasts_longer_than_the_others_has_at_least_its_epoch_left() -> None:
    trainings = [Pace("a", 2.0, 2, 2), Pace("a", 3.5, 3.5)]
    assert seconds_left(trainings, 8, 2) == pytest.approx(0.5)


def test_what_was_done_before_tells_of_epochs_and_not_of_seconds() -> None:
    assert seconds_left([Pace("a", length=4), Pace("a", 2.0, 1.0)], 8, 1) == pytest.approx(6)
    assert seconds_left([Pace("a", length=4), Pace("a")], 8, 1) is None


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "time left not known yet"),
        (0.2, "about 5 s left"),
        (31, "about 35 s left"),
        (61, "about 2 min left"),
        (5900, "about 99 min left"),
        (6100, "about 2 h left"),
        (80 * 3600, "about 4 days left"),
    ],
)
def test_a_person_would_say_it_so(seconds: float | None, said: str) -> None:
    assert in_words(seconds) == said
