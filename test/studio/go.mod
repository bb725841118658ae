module github.com/omnigraph-go/omnigraph/test/studio

go 1.26.0
