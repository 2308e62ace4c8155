#!/usr/bin/env python3
"""What a part of the measurements leaves of the rest of the page."""
import unittest

import curves_page

HEAD = "| Network | Setting |\n|---|---|\n"


class Merged(unittest.TestCase):
    def test_a_network_is_replaced_and_others_stay(self):
        old = HEAD + "| a x | one |\n| a x | two |\n| c x | kept |\n\n### a x\n\nold\n\n### c x\n\npicture\n"
        new = HEAD + "| a x | three |\n| b x | four |\n\n### a x\n\nnew\n\n### b x\n\nfirst"
        self.assertEqual(curves_page.merged(old, new),
                         HEAD + "| a x | three |\n| b x | four |\n| c x | kept |\n\n### a x\n\nnew\n\n"
                         "### b x\n\nfirst\n\n### c x\n\npicture")

    def test_a_page_merged_with_itself_stays(self):
        measured = curves_page.PAGE.read_text().split(curves_page.MEASURED, 1)[1].strip()
        self.assertEqual(curves_page.merged(measured, measured), measured)


if __name__ == "__main__":
    unittest.main()
