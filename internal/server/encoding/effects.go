package encoding

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
)

// Ops are the names of the kinds of change in answers.
var Ops = map[engine.ChangeKind]string{engine.Inserted: client.OpInsert, engine.Updated: client.OpUpdate, engine.Deleted: client.OpDelete}

// Image returns an entity in its wire form, and the number of bytes of its values.
func Image(entity string, i *engine.Image, enc Options) (out *client.EntityImage, bytes int) {
	if i == nil {
		return nil, 0
	}
	out = &client.EntityImage{Properties: make(map[string]json.RawMessage, len(i.Properties))}
	if entity == client.KindEdge {
		out.Endpoints = &client.EdgeEndpoints{From: client.EdgeEnd{Type: i.FromType, ID: i.From}, To: client.EdgeEnd{Type: i.ToType, ID: i.To}}
	}
	for _, p := range i.Properties {
		v := ValueJSON(p.Value, enc)
		out.Properties[p.Name] = v
		bytes += len(v)
	}
	return out, bytes
}

// effects returns what a write did in detail, with the notes of the call. Without `reads`, the caller may not
// read the branch, and gets only the notes.
func effects(w *engine.WriteEffects, notes []string, aboutStored func() []string, enc Options, reads bool) client.WriteEffects {
	out := client.WriteEffects{Notes: notes}
	if !reads {
		return out
	}
	if aboutStored != nil {
		out.Notes = append(out.Notes, aboutStored()...)
	}
	if w == nil {
		return out
	}
	nodes, edges := client.ChangeCounts(w.Nodes), client.ChangeCounts(w.Edges)
	out.NodeChanges, out.EdgeChanges, out.MoreChanges = &nodes, &edges, w.More
	for i := range w.Changes {
		c := &w.Changes[i]
		before, _ := Image(c.Entity, c.Before, enc)
		after, _ := Image(c.Entity, c.After, enc)
		out.Changes = append(out.Changes, client.EntityChange{
			Kind: c.Entity, Type: client.ChangedType{ID: c.TypeID, Name: c.Type}, ID: c.ID, Op: Ops[c.Kind], Before: before, After: after,
		})
	}
	return out
}

// effects writes the members of an answer that effects returns.
func (e *Writer) effects(w client.WriteEffects) error {
	text, err := json.Marshal(w)
	if err == nil && len(text) > len("{}") {
		e.buf = append(e.buf, ',')
		e.buf = append(e.buf, text[1:len(text)-1]...)
	}
	return err
}
