package golang

import (
	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// The names of the constants that hold the common parts of a package's schemas.
const (
	inputHead         = "inputHead"         // start of every input schema
	readTail          = "readTail"          // end of the input schema of a read
	readTailOptional  = "readTailOptional"  // readTail for a query without required parameters
	writeTail         = "writeTail"         // end of the input schema of a mutation
	writeTailOptional = "writeTailOptional" // writeTail for a query without required parameters
	rowsHead          = "rowsHead"          // start of the output schema of a read
	rowsTail          = "rowsTail"          // end of the output schema of a read
	changeSchema      = "changeSchema"      // output schema of every mutation
)

// frames adds the constants for the schemas of reads, of mutations, or of both.
func frames(f *jen.File, fr *model.Frames, reads, writes bool) {
	if !reads && !writes {
		return
	}
	f.Line()
	f.Comment("// The parts that the schemas of all tools share.")
	f.Const().DefsFunc(func(g *jen.Group) {
		def := func(name, text string) { g.Id(name).Op("=").Add(rawString(text)) }
		def(inputHead, fr.InputHead)
		if reads {
			def(readTail, fr.ReadTail)
			def(readTailOptional, fr.ReadTailOptional)
			def(rowsHead, fr.RowsHead)
			def(rowsTail, fr.RowsTail)
		}
		if writes {
			def(writeTail, fr.WriteTail)
			def(writeTailOptional, fr.WriteTailOptional)
			def(changeSchema, fr.Change)
		}
	})
}

// inputSchema returns the Go expression for the input schema of a query.
func inputSchema(q *model.Query) jen.Code {
	tail := readTail
	switch {
	case q.Mutation() && q.Tool.ParamsOptional:
		tail = writeTailOptional
	case q.Mutation():
		tail = writeTail
	case q.Tool.ParamsOptional:
		tail = readTailOptional
	}
	return jen.Id(inputHead).Op("+").Add(rawString(q.Tool.ParamsSchema)).Op("+").Id(tail)
}

// outputSchema returns the Go expression for the output schema of a query.
func outputSchema(q *model.Query) jen.Code {
	switch {
	case q.Mutation() && q.Returns():
		return rawString(string(q.Tool.OutputSchema))
	case q.Mutation():
		return jen.Id(changeSchema)
	}
	return jen.Id(rowsHead).Op("+").Add(rawString(q.Tool.RowSchema)).Op("+").Id(rowsTail)
}
