package rest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/swaggest/openapi-go/openapi31"

	"github.com/omnigraph-go/omnigraph/client"
)

const (
	// contractVersion is the version of the wire contract. It is not the version of the server.
	contractVersion = "0.10.0"

	bearerScheme = "bearer" // name of the security scheme
)

// mediaRanges is the media type of an answer with several byte ranges.
const mediaRanges = "multipart/byteranges"

// documentSummary is the summary of the OpenAPI document.
const documentSummary = "Typed graphs over HTTP and JSON."

// documentDescription is the introduction of the OpenAPI document.
const documentDescription = `Every error has the schema Envelope: a text for people, a code for programs, and the members that belong to the code.

An answer always has all members that the schema does not mark as optional; a member without a value is null. Integers are JSON numbers; a request body may also write them as strings. With the header Omnigraph-Integers, values of the types I64 and U64 are strings of digits instead, so that no client rounds them; the server takes requests without the header. The server refuses members, query parameters and media types that are not listed, and a member that occurs twice.

The server answers HEAD on every route that has GET, with the same headers.`

// Document returns the OpenAPI 3.1 document of [Routes] as indented JSON. It is the same on
// every server: it contains nothing about graphs, queries or policies.
func Document() ([]byte, error) {
	d := &document{paths: map[string]openapi31.PathItem{}, schemas: newSchemas()}
	var tags []openapi31.Tag
	for _, r := range Routes() {
		if err := d.add(&r); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(tags, func(t openapi31.Tag) bool { return t.Name == r.Tag }) {
			tags = append(tags, openapi31.Tag{Name: r.Tag})
		}
	}
	return d.print("Omnigraph", documentSummary, documentDescription, tags)
}

// print returns the OpenAPI document as indented JSON.
func (d *document) print(title, summary, description string, tags []openapi31.Tag) ([]byte, error) {
	spec := openapi31.Spec{
		Openapi:    "3.1.0",
		Info:       openapi31.Info{Title: title, Version: contractVersion, Summary: &summary, Description: &description},
		Servers:    []openapi31.Server{{URL: "/"}},
		Tags:       tags,
		Security:   []map[string][]string{{bearerScheme: {}}},
		Paths:      &openapi31.Paths{MapOfPathItemValues: d.paths},
		Components: d.components(),
	}
	b, err := spec.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	v := jsontext.Value(b)
	if err := v.Format(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("indent the OpenAPI document: %w", err)
	}
	return append(v, '\n'), nil
}

// openapi answers with the document.
func (x *exchange) openapi() error {
	b, err := x.document()
	if err != nil {
		return err
	}
	send(x.w, http.StatusOK, b)
	return nil
}

// document is the OpenAPI document while it is built.
type document struct {
	paths   map[string]openapi31.PathItem // the operations by path
	schemas *schemas                      // the schemas of bodies and answers
}

// add adds the operation of a route.
func (d *document) add(r *Route) error {
	op := &openapi31.Operation{
		ID: &r.Operation, Tags: []string{r.Tag}, Summary: &r.Summary, RequestBody: d.body(r),
		Responses: &openapi31.Responses{MapOfResponseOrReferenceValues: map[string]openapi31.ResponseOrReference{}},
	}
	if text := described(r); text != "" {
		op.Description = &text
	}
	if r.Successor != "" {
		op.Deprecated = new(true)
	}
	statuses := r.AllStatuses()
	switch {
	case !slices.Contains(statuses, http.StatusUnauthorized):
		op.Security = []map[string][]string{{}}
	case r.Open:
		op.Security = []map[string][]string{{}, {bearerScheme: {}}}
	}
	for i := range r.Params {
		op.Parameters = append(op.Parameters, parameter(&r.Params[i], r.exampleOf(&r.Params[i])))
	}
	for _, status := range statuses {
		op.Responses.MapOfResponseOrReferenceValues[strconv.Itoa(status)] = d.response(r, status)
	}
	item := d.paths[r.Path]
	if err := item.SetOperation(r.Method, op); err != nil {
		return fmt.Errorf("route %s %s: %w", r.Method, r.Path, err)
	}
	d.paths[r.Path] = item
	return nil
}

// described returns the description of an operation. It consists of the description of the route
// and the rights that a caller needs.
func described(r *Route) string {
	text := r.Description
	if r.Action != "" {
		needs := "Needs `" + string(r.Action) + "`"
		for i, also := range r.ExtraActions {
			needs += [...]string{"; some requests also need ", " and "}[min(i, 1)] + "`" + string(also) + "`"
		}
		text = joined(text, needs+".")
	}
	if r.Columns {
		text = joined(text, "With `Accept: "+client.MediaArrow+"` the rows come as an Arrow IPC stream, which the server sends while it reads them. An answer that ends early is incomplete.")
	}
	if r.Successor != "" {
		text = joined(text, "Deprecated: use `"+r.Successor+"`.")
	}
	return text
}

// joined returns two paragraphs as one text.
func joined(text, more string) string {
	if text == "" {
		return more
	}
	return text + "\n\n" + more
}

// parameter returns a parameter in the form of the document.
func parameter(p *Param, example string) openapi31.ParameterOrReference {
	schema := map[string]any{"type": string(p.Kind)}
	switch {
	case p.Kind == Number:
		schema["format"], schema["minimum"], schema["maximum"] = "int32", p.Min, math.MaxInt32
	case p.Enum != nil:
		schema["enum"] = p.Enum
	case p.Required:
		schema["minLength"] = 1
	}
	if p.Many && p.In == Query {
		schema = map[string]any{"type": "array", "items": schema}
	}
	out := openapi31.Parameter{Name: p.Name, In: openapi31.ParameterIn(p.In), Schema: schema}
	if p.Description != "" {
		out.Description = &p.Description
	}
	if p.Required || p.Declared {
		out.Required = new(true)
	}
	if example != "" {
		out.Example = new(any(example))
		if p.Kind == Number {
			out.Example = new(any(json.RawMessage(example)))
		}
	}
	return openapi31.ParameterOrReference{Parameter: &out}
}

// body returns the request body of a route, or nil if the route takes none.
func (d *document) body(r *Route) *openapi31.RequestBodyOrReference {
	if r.BodyMedia == "" {
		return nil
	}
	body := &openapi31.RequestBody{}
	if r.BodyRequired {
		body.Required = &r.BodyRequired
	}
	var schema map[string]any
	if r.Body != nil {
		schema = d.schemas.of(r.Body, incoming)
	} else {
		schema = textOf(r.BodyMedia)
	}
	content := openapi31.MediaType{Schema: schema}
	switch example := r.example.body; {
	case example == "":
	case r.BodyMedia == mediaJSON:
		content.Example = new(any(json.RawMessage(example)))
	default:
		content.Example = new(any(example))
	}
	body.Content = map[string]openapi31.MediaType{r.BodyMedia: content}
	return &openapi31.RequestBodyOrReference{RequestBody: body}
}

// response returns the answer of a route for a status.
func (d *document) response(r *Route, status int) openapi31.ResponseOrReference {
	if other, ok := r.Refusals[status]; ok {
		fault := d.fault(status)
		fault.Content[mediaJSON] = openapi31.MediaType{Schema: map[string]any{
			"oneOf": []any{d.schemas.of(other, outgoing), d.schemas.of(client.Envelope{}, outgoing)},
		}}
		return openapi31.ResponseOrReference{Response: fault}
	}
	if status >= http.StatusBadRequest {
		name := componentOf(status)
		return openapi31.ResponseOrReference{Reference: &openapi31.Reference{Ref: "#/components/responses/" + name}}
	}
	out := &openapi31.Response{Description: successes[status], Headers: d.headers(r, status)}
	if status == http.StatusNotModified || status == r.Success || r.Method == http.MethodHead {
		return openapi31.ResponseOrReference{Response: out}
	}
	out.Content = map[string]openapi31.MediaType{cmp.Or(r.AnswerMedia, mediaJSON): {Schema: d.answer(r)}}
	if r.Columns && status == http.StatusOK {
		out.Content[client.MediaArrow] = openapi31.MediaType{Schema: map[string]any{}} // the empty schema allows any bytes
	}
	if r.Events && status == http.StatusOK {
		out.Content[mediaEvents] = openapi31.MediaType{Schema: textOf(mediaEvents)}
	}
	if status == http.StatusPartialContent {
		out.Content[mediaRanges] = openapi31.MediaType{} // answers with several ranges have this media type
	}
	return openapi31.ResponseOrReference{Response: out}
}

// answer returns the schema of a successful answer.
func (d *document) answer(r *Route) map[string]any {
	switch a := r.Answer.(type) {
	case nil:
		return textOf(r.AnswerMedia)
	case map[string]any:
		return map[string]any{"type": "object"}
	case OneOf:
		var kinds []any
		for _, v := range a {
			kinds = append(kinds, d.schemas.of(v, outgoing))
		}
		return map[string]any{"oneOf": kinds}
	default:
		return d.schemas.of(a, outgoing)
	}
}

// textOf returns the schema of a body that is not a single JSON value.
func textOf(media string) map[string]any {
	switch media {
	case mediaNDJSON:
		return map[string]any{"type": "string", "description": "One JSON object per line."}
	case mediaEvents:
		return map[string]any{"type": "string", "description": "Server-sent events: changes, with a page; fault, with an error; and end, with the reason and the cursor."}
	case mediaPiece:
		return map[string]any{"type": "string", "format": "binary", "description": "The bytes of the piece."}
	case mediaText:
		return map[string]any{"type": "string"}
	}
	return map[string]any{} // the empty schema allows any bytes
}

// fault returns the answer for an error status.
func (d *document) fault(status int) *openapi31.Response {
	f := faults[status]
	response := &openapi31.Response{
		Description: f.description, Headers: map[string]openapi31.HeaderOrReference{},
		Content: map[string]openapi31.MediaType{mediaJSON: {Schema: d.schemas.of(client.Envelope{}, outgoing)}},
	}
	for _, h := range f.headers {
		response.Headers[h.name] = h.or()
	}
	return response
}

// components returns the parts that operations share.
func (d *document) components() *openapi31.Components {
	responses := map[string]openapi31.ResponseOrReference{}
	for status := range faults {
		responses[componentOf(status)] = openapi31.ResponseOrReference{Response: d.fault(status)}
	}
	return &openapi31.Components{
		Schemas:   d.schemas.made,
		Responses: responses,
		SecuritySchemes: map[string]openapi31.SecuritySchemeOrReference{bearerScheme: {SecurityScheme: &openapi31.SecurityScheme{
			Description: new("A token that the server knows, or a token of the issuer that the server's configuration names."),
			HTTPBearer:  &openapi31.SecuritySchemeHTTPBearer{Scheme: bearerScheme},
		}}},
	}
}
