import unittest

from units import size


class Show(unittest.TestCase):
    def test_whole_units(self):
        self.assertEqual(size.show(2048), "2 KiB")
        self.assertEqual(size.show(0), "0 B")


if __name__ == "__main__":
    unittest.main()
