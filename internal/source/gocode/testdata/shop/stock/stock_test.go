package stock

func helperOfTests() { Twice(Standard, "x") }
