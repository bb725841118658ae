package client_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// bodies are the types of the bodies, by operation.
var bodies = map[string]any{
	"query": client.QueryBody{}, "mutate": client.MutateBody{}, "mutate_if_graph_commit": client.MutateBody{},
	"invoke_query": client.InvokeBody{}, "invoke_query_if_graph_commit": client.InvokeBody{},
	"load": client.LoadBody{}, "export": client.ExportBody{}, "apply_schema": client.SchemaBody{},
	"create_branch": client.BranchBody{}, "merge_branches": client.MergeBody{}, "cleanup": client.CleanupBody{}, "verify": struct{}{},
}

// TestBodies checks that every body has the members that the server reads, with the same schema.
func TestBodies(t *testing.T) {
	for _, route := range rest.Routes() {
		if route.Body == nil || route.Successor != "" {
			continue
		}
		body, ok := bodies[route.Operation]
		if !ok {
			t.Errorf("%s: the test knows no type for the body", route.Operation)
			continue
		}
		got, want := members(reflect.TypeOf(body)), members(reflect.TypeOf(route.Body))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %T has the members\n\t%s\nand the server reads\n\t%s", route.Operation, body, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
}

// TestEnvelope checks that the error envelope has the members that the server writes.
func TestEnvelope(t *testing.T) {
	got, want := members(reflect.TypeFor[client.Error]()), members(reflect.TypeFor[wireerror.WireError]())
	if !slices.Equal(got, want) {
		t.Errorf("the client decodes\n\t%s\nand the server writes\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	if !slices.EqualFunc(client.Codes, wireerror.Codes, func(a client.Code, b wireerror.Code) bool { return string(a) == string(b) }) {
		t.Errorf("the client has the codes %v, the server %v", client.Codes, wireerror.Codes)
	}
}

// members lists the members of a struct in order, each with its tags and its JSON type, and below
// them the members of structs.
func members(typ reflect.Type) (list []string) {
	for f := range typ.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			list = append(list, members(f.Type)...)
			continue
		case name == "-" || !f.IsExported():
			continue
		}
		of, inner := jsonType(f.Type)
		schema := strings.TrimSuffix(strings.TrimSuffix(f.Tag.Get("jsonschema"), "type=object"), ",")
		list = append(list, fmt.Sprintf("%s,%s %s %q %q", name, options, of, schema, f.Tag.Get("jsonschema_description")))
		for _, m := range inner {
			list = append(list, name+"."+m)
		}
	}
	return list
}

// jsonType names the JSON type of a Go type, and lists the members if it is a struct.
func jsonType(typ reflect.Type) (name string, inner []string) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[time.Time]() || typ == reflect.TypeFor[value.DateTimeValue]():
		return "time", nil
	case typ == reflect.TypeFor[any]() || typ == reflect.TypeFor[map[string]any]():
		return "parameters", nil
	}
	switch typ.Kind() {
	case reflect.Slice:
		name, inner = jsonType(typ.Elem())
		return "list of " + name, inner
	case reflect.Struct:
		return "object", members(typ)
	}
	return typ.Kind().String(), nil
}
