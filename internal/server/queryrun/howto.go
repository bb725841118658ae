package queryrun

import (
	"encoding/json"
	"strings"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// HowToCall returns the name of the tool that runs a stored query, and a text that shows how to
// call the query. The text contains the tool's name and its arguments as JSON. In place of the
// value of a parameter, it has the parameter's type. An example of the text:
//
//	find_person {"params":{"name":"<String>"}}
//
// The argument runTool is the value of [tool.Env.RunTool].
func HowToCall(q tool.StoredQuery, runTool string) (name, call string) {
	name = q.Descriptor().Name
	var members []string
	if runTool != "" {
		members = append(members, `"name":`+quoted(name))
		name = runTool
	}
	var params []string
	for _, p := range q.Params() {
		params = append(params, quoted(p.Name)+":"+quoted("<"+p.Type.String()+">"))
	}
	if len(params) > 0 {
		members = append(members, `"params":{`+strings.Join(params, ",")+"}")
	}
	return name, name + " {" + strings.Join(members, ",") + "}"
}

// quoted writes a name or a type as a JSON string, which cannot fail.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}
