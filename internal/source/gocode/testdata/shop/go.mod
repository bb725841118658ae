module example.com/shop

go 1.26

require example.com/money v1.2.0

require example.com/rounding v0.3.0 // indirect

replace example.com/money => ../money
