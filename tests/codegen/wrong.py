"""Every line that is marked must be refused by mypy."""

from jobs import Kind, SendEmail, ShopClean

SendEmail(to="a", subject="b", urgent=True)
SendEmail(to=1, subject="b", urgent=True)  # wrong: a number
SendEmail(to="a", urgent=True)  # wrong: missing
SendEmail(to="a", subject="b", urgent=True, copy=1)  # wrong: unknown
ShopClean(to="a")  # wrong: takes nothing
small: Kind = "Small"
tiny: Kind = "Tiny"  # wrong: no variant
custom: Kind = {"Custom": "x"}  # wrong: content
named: Kind = {"Named": {"height": 1}}  # wrong: missing field
