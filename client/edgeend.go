package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// EdgeEnd is the node at an end of an edge. If the schema declares a node type at this end, only the
// id identifies the node, and the JSON form is the id as a string. If the schema declares an interface
// there, the JSON form is an object with the members type and id.
type EdgeEnd struct {
	Type string // name of the node's type; empty if the schema declares a node type at this end
	ID   string // id of the node
}

// edgeEndObject is the JSON form of an EdgeEnd with a type. Its members are pointers so that a missing
// member is not the same as an empty one.
type edgeEndObject struct {
	Type *string `json:"type"`
	ID   *string `json:"id"`
}

// String returns the id of the node, and before it the type and a slash if the type is not empty.
func (e EdgeEnd) String() string {
	if e.Type == "" {
		return e.ID
	}
	return e.Type + "/" + e.ID
}

// MarshalJSON returns the id as a string if the type is empty, and otherwise an object.
func (e EdgeEnd) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the encoder that calls this method decides
	var err error
	if e.Type == "" {
		err = enc.Encode(e.ID)
	} else {
		err = enc.Encode(edgeEndObject{&e.Type, &e.ID})
	}
	return b.Bytes(), err
}

// UnmarshalJSON reads both forms. It returns an error for any other JSON value, and for an object that
// lacks the type or the id.
func (e *EdgeEnd) UnmarshalJSON(text []byte) error {
	var id *string
	if err := json.Unmarshal(text, &id); err == nil && id != nil {
		*e = EdgeEnd{ID: *id}
		return nil
	}
	var o *edgeEndObject
	switch err := json.Unmarshal(text, &o); {
	case err != nil:
		return fmt.Errorf("the end of an edge is neither a string nor an object with type and id: %w", err)
	case o == nil || o.Type == nil || *o.Type == "" || o.ID == nil:
		return errors.New("the end of an edge is neither a string nor an object with type and id")
	}
	*e = EdgeEnd{Type: *o.Type, ID: *o.ID}
	return nil
}
