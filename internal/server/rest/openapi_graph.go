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

	"github.com/go-json-experiment/json/jsontext"
	"github.com/swaggest/openapi-go/openapi31"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// StoredOperation has what [GraphDocument] needs to know about a stored query. The server gets it
// from the compiled code, and `gq generate` from the contract of the package.
type StoredOperation struct {
	Name, Title, Description string
	Mutation                 bool
	Dates                    []string        // names of the parameters whose type is Date, or a list of dates
	InputSchema              json.RawMessage // schema of the MCP tool's arguments
	OutputSchema             json.RawMessage // schema of the MCP tool's result
}

// graphDescription introduces the OpenAPI document of a graph.
const graphDescription = `Each operation is a stored query of the graph, with the types of its parameters and its rows. The caller may invoke all of them.

Every error has the schema Envelope. With the header Omnigraph-Integers, values of the types I64 and U64 are strings of digits, so that no client rounds them; an argument may be a string in any case. All other integers are JSON numbers. A float that is not finite is one of the strings NaN, Infinity and -Infinity.`

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

// reserve adds the schemas that all operations share. Then no schema of a query can be given the
// name of one of them.
func (d *document) reserve() error {
	for _, shared := range []any{client.MutationAnswer{}, client.Envelope{}} {
		d.schemas.of(shared, outgoing)
	}
	_, err := d.members(reflect.TypeFor[client.ReadAnswer](), outgoing)
	return err
}

// addStored adds the operation for a stored query to the document.
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
	answer, err := d.storedAnswer(q, stem)
	if err != nil {
		return err
	}
	done := op.Responses.MapOfResponseOrReferenceValues["200"].Response
	done.Content[mediaJSON] = openapi31.MediaType{Schema: map[string]any{"$ref": schemaPrefix + answer}}
	var item openapi31.PathItem
	if err := item.SetOperation(http.MethodPost, op); err != nil {
		return err
	}
	d.paths["/graphs/"+url.PathEscape(graph)+"/queries/"+url.PathEscape(q.Name)] = item
	return nil
}

// storedRoute returns the route that runs a stored query: a mutation if `mutation` is true,
// otherwise a read. The route lacks the parameters of its path.
func storedRoute(mutation bool) Route {
	routes := Routes()
	r := routes[slices.IndexFunc(routes, func(r Route) bool { return r.Operation == "invoke_query" })]
	r.Params = slices.DeleteFunc(r.Params, func(p Param) bool {
		return p.In == Path || !mutation && (p.Name == headerIdempotency || p.Name == headerIfCommit || p.Name == headerMessage)
	})
	// A generated client reads JSON. If the answer had a second media type, the generator would not
	// find the types of the rows.
	r.Answer, r.Writes, r.Columns = client.ReadAnswer{}, mutation, false
	if mutation {
		r.Answer = client.MutationAnswer{}
	}
	return r
}

// stem returns the common beginning of the names of a query's schemas. It is the name of the query
// without underscores, with a capital letter at the start of each word. If one of the names is
// already in use, a number is appended.
func (d *document) stem(query string) string {
	whole := pascal(query)
	stem := whole
	for n := 2; ; n++ {
		free := true
		for _, end := range []string{bodySuffix, argumentsSuffix, answerSuffix, rowSuffix} {
			free = free && d.schemas.made[stem+end] == nil
		}
		if free {
			return stem
		}
		stem = whole + strconv.Itoa(n)
	}
}

// storedBody adds the schema of the request body for a query, and reports whether a request must
// have a body.
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
	name = stem + argumentsSuffix
	d.schemas.made[name] = nil // reserves the name
	for i := range members {
		if members[i].value, err = withoutDefault(members[i].value); err != nil {
			return "", false, err
		}
		if slices.Contains(q.Dates, members[i].name) {
			members[i].value = datedInput(members[i].value)
		}
		if members[i].value, err = d.portable(members[i].value, name+pascal(members[i].name)); err != nil {
			return "", false, err
		}
	}
	d.schemas.made[name] = objectOf(pythonOrder(members), params.Required)
	all, err := d.members(reflect.TypeFor[client.InvokeBody](), incoming)
	if err != nil {
		return "", false, err
	}
	takes := []string{"branch", "snapshot", "max_rows", "page_token"}
	if q.Mutation {
		takes = []string{"branch", "dry_run"}
	}
	body := []member{{"params", refTo(name)}}
	for _, m := range all {
		if slices.Contains(takes, m.name) {
			body = append(body, m)
		}
	}
	var needs []string
	if len(params.Required) > 0 {
		needs = []string{"params"}
	}
	d.schemas.made[stem+bodySuffix] = objectOf(body, needs)
	return stem + bodySuffix, len(needs) > 0, nil
}

// storedAnswer adds the schemas of the rows and of the answer of a stored query. A mutation that returns no row
// has the answer of all mutations.
func (d *document) storedAnswer(q *StoredOperation, stem string) (name string, err error) {
	var output struct {
		Properties struct {
			Rows struct {
				Items json.RawMessage `json:"items"`
			} `json:"rows"`
		} `json:"properties"`
	}
	if q.OutputSchema != nil {
		if err := json.Unmarshal(q.OutputSchema, &output); err != nil {
			return "", err
		}
	}
	t := reflect.TypeFor[client.ReadAnswer]()
	if q.Mutation {
		t = reflect.TypeFor[client.MutationAnswer]()
		if output.Properties.Rows.Items == nil {
			return componentName(t), nil
		}
	}
	row := stem + rowSuffix
	d.schemas.made[row] = map[string]any{"type": "object"} // if the query has no output schema
	if output.Properties.Rows.Items != nil {
		if d.schemas.made[row], err = d.record(output.Properties.Rows.Items, row); err != nil {
			return "", err
		}
	}
	members, err := d.members(t, outgoing)
	if err != nil {
		return "", err
	}
	for i := range members {
		if members[i].name == "rows" {
			members[i].value = json.RawMessage(`{"type":"array","items":` + string(refTo(row)) + `}`)
		}
	}
	var required []string
	if err := json.Unmarshal(d.schemas.reflect(t, outgoing)["required"].(json.RawMessage), &required); err != nil {
		return "", err
	}
	if q.Mutation {
		required = append(required, "rows")
	}
	d.schemas.made[stem+answerSuffix] = objectOf(members, required)
	return stem + answerSuffix, nil
}

// datedInput converts the schema of a tool's parameter whose type is a Date or a list of them. It gets the
// format date, which the schema of the tool leaves out.
func datedInput(schema json.RawMessage) json.RawMessage {
	schema = compact(schema)
	for _, types := range []string{`"type":"string"`, `"type":["string","null"]`} {
		schema = bytes.Replace(schema, []byte(types), []byte(types+`,"format":"date"`), 1)
	}
	return schema
}

// withoutDefault moves the keyword `default` of a parameter's schema into its description.
// Generators of clients assume that a property with a default is always present, but callers may
// leave this property out.
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

// compact returns JSON without white space. The JSON in a contract is indented.
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

// members returns the properties in the schema of a Go struct, in the order of its fields.
func (d *document) members(t reflect.Type, side side) ([]member, error) {
	properties, _ := d.schemas.reflect(t, side)["properties"].(json.RawMessage)
	return ordered(properties)
}

// ordered returns the members of a JSON object in the order in which they are written.
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
		name, _ := jsontext.AppendQuote(nil, m.name) // would replace invalid UTF-8, but names have none
		b = append(append(append(b, name...), ':'), m.value...)
	}
	return append(b, '}')
}

// graphOpenAPI sends the OpenAPI document of the stored queries that the caller may invoke.
func (x *exchange) graphOpenAPI() error {
	var queries []StoredOperation
	for _, q := range x.g.SeenQueries(x.ctx(), x.actor()) {
		queries = append(queries, operationOf(q))
	}
	b, err := x.describe(x.g.ID(), queries)
	if err != nil {
		return err
	}
	send(x.w, http.StatusOK, b)
	return nil
}

// operationOf converts a stored query to a StoredOperation.
func operationOf(q tool.StoredQuery) StoredOperation {
	d := q.Descriptor()
	op := StoredOperation{
		Name: q.Info().Name, Title: d.Title, Description: d.Description, Mutation: q.Info().Mutation,
		InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
	}
	for _, p := range q.Params() {
		if p.Type.Kind == value.Date {
			op.Dates = append(op.Dates, p.Name)
		}
	}
	return op
}
