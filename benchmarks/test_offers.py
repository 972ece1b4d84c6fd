"""Every merge or suppression that `assess` offers keeps the limit on knowledge: 500 cases."""

import time
from collections import Counter

from offercases import check_offers


def test_no_offer_in_five_hundred_cases_breaks_the_limit():
    begun = time.process_time()
    found = check_offers(500)
    kinds = Counter((kind, prior) for _, kind, prior, _ in found)
    print(f"{len(found)} offers in {time.process_time() - begun:.1f} s of processor time:", kinds)
