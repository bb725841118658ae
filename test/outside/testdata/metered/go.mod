module example.com/metered

go 1.26.0

require github.com/omnigraph-go/omnigraph v0.0.0

replace github.com/omnigraph-go/omnigraph => ../../../..
