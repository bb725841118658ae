module github.com/omnigraph-go/omnigraph/test/manifests

go 1.26.0

require (
	github.com/compose-spec/compose-go/v2 v2.16.2
	k8s.io/api v0.37.2
	sigs.k8s.io/yaml v1.6.0
)
