package tool

import (
	"fmt"
	"sync"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Compiled is a stored query of a generated package. Its methods are safe for concurrent
// use.
type Compiled struct {
	Query QueryInfo  // the catalog's information about the query
	Tool  Descriptor // the descriptor of the query's tool

	// Enums lists the allowed values of each parameter, by position. An entry is nil if the
	// parameter takes all values of its type. Enums may be shorter than the list of
	// parameters.
	Enums [][]string

	// Encoded is the plan in the form that [plan.Encode] returns. It is decoded on first
	// use.
	Encoded string

	once   sync.Once    // makes decode run once
	err    error        // why the plan cannot be decoded
	plan   *plan.Query  // the decoded plan
	params []plan.Param // the declared parameters, with the enums added to their types
}

// Descriptor implements [StoredQuery].
func (c *Compiled) Descriptor() *Descriptor { return &c.Tool }

// Info implements [StoredQuery].
func (c *Compiled) Info() *QueryInfo { return &c.Query }

// Plan implements [StoredQuery]. It panics if another version of gq generated the package
// and this version cannot decode the plan.
func (c *Compiled) Plan() *plan.Query {
	c.mustDecode()
	return c.plan
}

// Params implements [StoredQuery].
func (c *Compiled) Params() []plan.Param {
	c.mustDecode()
	return c.params
}

// mustDecode is decode, with a panic in place of the error.
func (c *Compiled) mustDecode() {
	if err := c.decode(); err != nil {
		panic(err.Error())
	}
}

// decode decodes the plan on the first call, and sets plan and params.
func (c *Compiled) decode() error {
	c.once.Do(func() {
		q, err := plan.Decode(c.Encoded)
		if err != nil {
			c.err = fmt.Errorf("stored query %s: %w", c.Query.Name, err)
			return
		}
		c.plan, c.params = q, q.Declared()
		if len(c.Enums) > 0 {
			c.params = append([]plan.Param(nil), c.params...)
			for i, values := range c.Enums {
				c.params[i].Type.Enum = values
			}
		}
	})
	return c.err
}
