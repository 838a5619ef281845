"""Small programs that the tests of the command share."""

GOOD = """\
app small

param low: int = 10

record Trade { id: u32, price: f64, size: i32 }
record Kept { id: u32, value: f64 }

source trades: Trade = csv("trades.csv")

stream kept = trades
  |> filter size >= low
  |> map { id, value: price * 2.0 } -> Kept

sink out = kept to csv("out.csv")
"""
TRADES = "id,price,size\n1,1.5,10\n2,2.5,5\n3,4.0,70\n"
WRONG = GOOD.replace("size >= low", "sise >= low").replace("price * 2.0", "prise * 2.0")
