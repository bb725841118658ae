package main

import "example.com/shop/stock"

func main() { stock.Twice(stock.Standard, "tea") }
