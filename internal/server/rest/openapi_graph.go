package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/swaggest/openapi-go/openapi31"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// StoredOperation is a stored query in the form that [GraphDocument] needs. Both the server and gq
// generate have it: the server from compiled code, gq from the contract of the package.
type StoredOperation struct {
	Name, Title, Description string
	Mutation                 bool
	Params                   []StoredParam
	InputSchema              json.RawMessage // of the MCP tool
	OutputSchema             json.RawMessage // of the MCP tool
}

// StoredParam is a parameter of a stored query.
type StoredParam struct {
	Name string
	Kind value.Kind // of the value, or of the elements of a list
}

// graphDescription is the introduction of the document of a graph.
const graphDescription = `Each operation is a stored query of the graph, with the types of its parameters and its rows. The caller may invoke all of them.

Every error has the schema Error. Integers are JSON numbers, including integers of 64 bits; a request may also write them as strings. A float that is not finite is one of the strings NaN, Infinity and -Infinity.`

// GraphDocument returns the OpenAPI 3.1 document of the stored queries of a graph as indented JSON.
func GraphDocument(graph string, queries []StoredOperation) ([]byte, error) {
	d := &document{paths: map[string]openapi31.PathItem{}, schemas: newSchemas()}
	if err := d.reserve(); err != nil {
		return nil, err
	}
	for i := range queries {
		if err := d.addStored(graph, &queries[i]); err != nil {
			return nil, fmt.Errorf("stored query %s: %w", queries[i].Name, err)
		}
	}
	return d.print("Omnigraph graph "+graph, "The stored queries of a graph as operations.", graphDescription, []openapi31.Tag{{Name: tagQueries}})
}

// reserve adds the schemas that all operations share, so that no schema of a query gets their names.
func (d *document) reserve() error {
	for _, shared := range []any{client.MutationAnswer{}, client.Envelope{}} {
		d.schemas.of(shared, outgoing)
	}
	_, err := d.members(reflect.TypeFor[client.ReadAnswer](), outgoing)
	return err
}

// addStored adds the operation of a stored query.
func (d *document) addStored(graph string, q *StoredOperation) error {
	r := storedRoute(q.Mutation)
	op := &openapi31.Operation{
		ID: &q.Name, Tags: []string{tagQueries}, Summary: &q.Title, Description: &q.Description,
		Responses: &openapi31.Responses{MapOfResponseOrReferenceValues: map[string]openapi31.ResponseOrReference{}},
	}
	for i := range r.Params {
		op.Parameters = append(op.Parameters, parameter(&r.Params[i], ""))
	}
	for _, status := range r.AllStatuses() {
		op.Responses.MapOfResponseOrReferenceValues[strconv.Itoa(status)] = d.response(&r, status)
	}
	stem := d.stem(q.Name)
	body, required, err := d.storedBody(q, stem)
	if err != nil {
		return err
	}
	media := openapi31.MediaType{Schema: map[string]any{"$ref": schemaPrefix + body}}
	op.RequestBody = &openapi31.RequestBodyOrReference{RequestBody: &openapi31.RequestBody{
		Required: &required, Content: map[string]openapi31.MediaType{mediaJSON: media},
	}}
	if !q.Mutation {
		answer, err := d.storedAnswer(q, stem)
		if err != nil {
			return err
		}
		done := op.Responses.MapOfResponseOrReferenceValues["200"].Response
		done.Content[mediaJSON] = openapi31.MediaType{Schema: map[string]any{"$ref": schemaPrefix + answer}}
	}
	var item openapi31.PathItem
	if err := item.SetOperation(http.MethodPost, op); err != nil {
		return err
	}
	d.paths["/graphs/"+url.PathEscape(graph)+"/queries/"+url.PathEscape(q.Name)] = item
	return nil
}

// storedRoute returns the route that runs a stored read, or a stored mutation, without the parameters
// of its path.
func storedRoute(mutation bool) Route {
	routes := Routes()
	r := routes[slices.IndexFunc(routes, func(r Route) bool { return r.Operation == "invoke_query" })]
	r.Params = slices.DeleteFunc(r.Params, func(p Param) bool {
		return p.In == Path || !mutation && (p.Name == headerIdempotency || p.Name == headerIfCommit)
	})
	// A generated client reads JSON, and a second media type would hide the types of the rows from it.
	r.Answer, r.Writes, r.Columns = client.ReadAnswer{}, mutation, false
	if mutation {
		r.Answer = client.MutationAnswer{}
	}
	return r
}

// stem returns the beginning of the names of a query's schemas: the name of the query without
// underscores, with a capital letter at the start of each word. If a name would be taken, the stem
// gets a number.
func (d *document) stem(query string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	stem := b.String()
	for n := 2; ; n++ {
		free := true
		for _, end := range []string{"Body", "Params", "Answer", "Row"} {
			free = free && d.schemas.made[stem+end] == nil
		}
		if free {
			return stem
		}
		stem = b.String() + strconv.Itoa(n)
	}
}

// storedBody adds the schema of a query's body, and reports whether a request must have a body.
func (d *document) storedBody(q *StoredOperation, stem string) (name string, required bool, err error) {
	var input struct {
		Properties struct {
			Params json.RawMessage `json:"params"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(q.InputSchema, &input); err != nil {
		return "", false, err
	}
	var params struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if input.Properties.Params != nil {
		if err := json.Unmarshal(input.Properties.Params, &params); err != nil {
			return "", false, err
		}
	}
	members, err := ordered(params.Properties)
	if err != nil {
		return "", false, err
	}
	for i := range members {
		if members[i].value, err = withoutDefault(members[i].value); err != nil {
			return "", false, err
		}
		for _, p := range q.Params {
			if p.Name == members[i].name && p.Kind.JSON() == value.JSONWide {
				members[i].value = wideInput(members[i].value)
			}
		}
	}
	d.schemas.made[stem+"Params"] = objectOf(members, params.Required)
	all, err := d.members(reflect.TypeFor[client.InvokeBody](), incoming)
	if err != nil {
		return "", false, err
	}
	takes := []string{"branch", "snapshot", "max_rows", "page_token"}
	if q.Mutation {
		takes = []string{"branch", "dry_run"}
	}
	body := []member{{"params", json.RawMessage(`{"$ref":"` + schemaPrefix + stem + `Params"}`)}}
	for _, m := range all {
		if slices.Contains(takes, m.name) {
			body = append(body, m)
		}
	}
	var needs []string
	if len(params.Required) > 0 {
		needs = []string{"params"}
	}
	d.schemas.made[stem+"Body"] = objectOf(body, needs)
	return stem + "Body", len(needs) > 0, nil
}

// storedAnswer adds the schemas of a read's rows and of its answer.
func (d *document) storedAnswer(q *StoredOperation, stem string) (name string, err error) {
	var output struct {
		Properties struct {
			Rows struct {
				Items json.RawMessage `json:"items"`
			} `json:"rows"`
		} `json:"properties"`
	}
	row := map[string]json.RawMessage{"type": json.RawMessage(`"object"`)} // of a query without an output schema
	if q.OutputSchema != nil {
		if err := json.Unmarshal(q.OutputSchema, &output); err != nil {
			return "", err
		}
		if err := json.Unmarshal(wideOutput(output.Properties.Rows.Items), &row); err != nil {
			return "", err
		}
	}
	d.schemas.made[stem+"Row"] = asAny(row)
	t := reflect.TypeFor[client.ReadAnswer]()
	members, err := d.members(t, outgoing)
	if err != nil {
		return "", err
	}
	for i := range members {
		if members[i].name == "rows" {
			members[i].value = json.RawMessage(`{"type":"array","items":{"$ref":"` + schemaPrefix + stem + `Row"}}`)
		}
	}
	var required []string
	if err := json.Unmarshal(d.schemas.reflect(t, outgoing)["required"].(json.RawMessage), &required); err != nil {
		return "", err
	}
	d.schemas.made[stem+"Answer"] = objectOf(members, required)
	return stem + "Answer", nil
}

// A tool's schema describes a 64-bit integer for models, which round numbers beyond 2^53. A REST
// body takes a number or a string, and a REST answer has a number. In JSON, the quotes of these texts
// cannot occur within a string.
var wideTypes = strings.NewReplacer(
	`"type":["integer","string"]`, `"type":"integer","format":"int64"`,
	`"type":["integer","string","null"]`, `"type":["integer","null"],"format":"int64"`,
)

// wideOutput converts the 64-bit integers in the schema of a tool's rows.
func wideOutput(schema json.RawMessage) json.RawMessage {
	return json.RawMessage(wideTypes.Replace(string(compact(schema))))
}

// wideInput converts the schema of a tool's parameter that is a 64-bit integer, or a list of them.
func wideInput(schema json.RawMessage) json.RawMessage {
	schema = compact(schema)
	for _, types := range [][2]string{{`"type":"string"`, `"type":["integer","string"]`}, {`"type":["string","null"]`, `"type":["integer","string","null"]`}} {
		schema = bytes.Replace(schema, []byte(types[0]), []byte(types[1]), 1)
	}
	return schema
}

// withoutDefault moves the keyword default of a parameter into its description. A generator of clients
// takes a property with a default for one that is always there, and callers may leave this one out.
func withoutDefault(schema json.RawMessage) (json.RawMessage, error) {
	all, err := ordered(schema)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(m member) bool { return m.name == "default" })
	if at < 0 {
		return schema, nil
	}
	text := "Default " + string(compact(all[at].value)) + "."
	all = slices.Delete(all, at, at+1)
	if d := slices.IndexFunc(all, func(m member) bool { return m.name == "description" }); d >= 0 {
		var before string
		if err := json.Unmarshal(all[d].value, &before); err != nil {
			return nil, err
		}
		text = before + " " + text
		all = slices.Delete(all, d, d+1)
	}
	b, err := encoding.JSON(text)
	return objectText(append(all, member{"description", b})), err
}

// compact returns JSON without white space; a contract has it indented.
func compact(schema json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, schema); err != nil {
		return schema // the caller reports malformed JSON when it decodes the schema
	}
	return b.Bytes()
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the properties in the schema of a struct, in the order of its fields.
func (d *document) members(t reflect.Type, side side) ([]member, error) {
	properties, _ := d.schemas.reflect(t, side)["properties"].(json.RawMessage)
	return ordered(properties)
}

// ordered returns the members of a JSON object in their order.
func ordered(object json.RawMessage) ([]member, error) {
	if object == nil {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // the key of an object is always a string
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// objectOf returns the schema of an object with the given properties.
func objectOf(members []member, required []string) map[string]any {
	schema := map[string]any{"type": "object", "properties": objectText(members), "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// objectText returns a JSON object with the given members.
func objectText(members []member) json.RawMessage {
	b := []byte("{")
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := jsontext.AppendQuote(nil, m.name) // replaces invalid UTF-8, which no name has
		b = append(append(append(b, name...), ':'), m.value...)
	}
	return append(b, '}')
}

// asAny returns a map of JSON values as a schema of the document.
func asAny(m map[string]json.RawMessage) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// graphOpenAPI answers with the document of the stored queries that the caller may invoke.
func (x *exchange) graphOpenAPI() error {
	var queries []StoredOperation
	for _, q := range x.g.SeenQueries(x.actor()) {
		queries = append(queries, operationOf(q))
	}
	b, err := x.describe(x.g.ID(), queries)
	if err != nil {
		return err
	}
	send(x.w, http.StatusOK, b)
	return nil
}

// operationOf returns a stored query in the form of the document.
func operationOf(q tool.StoredQuery) StoredOperation {
	d := q.Descriptor()
	op := StoredOperation{
		Name: q.Info().Name, Title: d.Title, Description: d.Description, Mutation: q.Info().Mutation,
		InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
	}
	for _, p := range q.Params() {
		op.Params = append(op.Params, StoredParam{Name: p.Name, Kind: p.Type.Kind})
	}
	return op
}
