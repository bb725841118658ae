package dataimport

import (
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// File is the usual name of a map.
const File = "import.yaml"

// Settings describes import.yaml.
var Settings = &strictyaml.Setting{
	Type: strictyaml.Mapping,
	Text: "import.yaml says which nodes and edges omnigraph import makes of the records of files.",
	Keys: []*strictyaml.Setting{{
		Key: "database", Type: strictyaml.Text, Default: "the command names it, or no source reads a table", Limits: "a URL without a password", Example: "postgres://reader@db.example.com/shop",
		Text: "This is the PostgreSQL database of the sources with table or query. Passwords come from PGPASSWORD or the file .pgpass, other parameters from the environment, as for psql.",
	}, {
		Key: "sources", Type: strictyaml.Map, Required: true, NotEmpty: true,
		Text:    "Each key is the path of a file, relative to the folder of import.yaml, a pattern such as data/*.csv, or a URL: https://, or s3://, gs:// or azblob:// as for shared storage, which may have a pattern in the name. The value says what a record becomes.",
		Example: "{ ports.csv: { node: Port, set: { unlocode: code, name: name } } }",
		Each: &strictyaml.Setting{
			Type: strictyaml.Union, Text: "This says what a record of the source becomes.", Example: "{ node: Port, set: { unlocode: code, name: name } }",
			Forms: []*strictyaml.Setting{mappingSettings, mappingsSettings, sourceSettings},
		},
	}},
}

// mappingsSettings describes a list of mappings.
var mappingsSettings = &strictyaml.Setting{
	Type: strictyaml.List, NotEmpty: true, Each: mappingSettings, Repeats: true,
	Text:    "A record becomes a node or an edge for each entry.",
	Example: "[{ node: Call, set: { no: call_no } }, { edge: CallsAt, from: { Call: { no: call_no } }, to: { Port: { unlocode: port } } }]",
}

// sourceSettings describes a source with options.
var sourceSettings = &strictyaml.Setting{
	Type:    strictyaml.Mapping,
	Text:    "The section read says how to read the file, and maps has one mapping or a list of them.",
	Example: `{ read: { delimiter: ";" }, maps: { node: Port, set: { unlocode: code } } }`,
	Keys: []*strictyaml.Setting{
		readSettings,
		{Key: "maps", Type: strictyaml.Union, Required: true, Example: "{ node: Port, set: { unlocode: code } }",
			Text: "This is what a record becomes.", Forms: []*strictyaml.Setting{mappingSettings, mappingsSettings}},
	},
}

// readSettings describes the section read.
var readSettings = &strictyaml.Setting{
	Key: "read", Type: strictyaml.Mapping, Default: "what the name and the first bytes of the file suggest", Example: `{ delimiter: ";", encoding: windows-1252 }`,
	Text: "This section says how to read the file, or which table to read in place of a file.",
	Keys: []*strictyaml.Setting{
		{Key: "table", Type: strictyaml.Text, Limits: "a table or view of the database", Default: "the source is a file, or has query", Example: "public.orders", Text: "The records are the rows of this table of the database. The key of the source is any name."},
		{Key: "query", Type: strictyaml.Text, Limits: "a SELECT of SQL", Default: "the source is a file, or has table", Example: "SELECT id, name FROM customers WHERE active", Text: "The records are the rows of this query to the database."},
		{Key: "format", Type: strictyaml.Choice, OneOf: record.Formats, Default: "by the ending of the name", Example: "csv", Text: "This is the format of the file. The command decompresses gzip and zstd by itself."},
		{Key: "encoding", Type: strictyaml.Choice, OneOf: record.Encodings, Default: "utf-8, or what a byte order mark says", Example: "windows-1252", Text: "This is the encoding of a text file."},
		{Key: "delimiter", Type: strictyaml.Text, Default: "the most frequent one of , ; | and tab in the header", Limits: "one ASCII character", Example: `";"`, Text: "This character is between the fields of CSV."},
		{Key: "header", Type: strictyaml.Bool, Default: "true", Example: "false", Text: "If this is false, the first line of CSV is a record, and without columns the columns are called 1, 2, 3 and so on."},
		{Key: "columns", Type: strictyaml.List, Default: "the names in the header", Example: "[code, name]", Text: "These are names for the columns of CSV.",
			Each: &strictyaml.Setting{Type: strictyaml.Text, Limits: "any text", Text: "This is the name of a column.", Example: "code"}},
		{Key: "skip", Type: strictyaml.Int, Min: 0, Max: 1_000_000, Default: "0", Example: "2", Text: "So many lines are before the header of CSV."},
		{Key: "ragged", Type: strictyaml.Choice, OneOf: []string{"refuse", "fill"}, Default: "refuse", Example: "fill", Text: "With fill, fields that a record of CSV lacks at its end are null, and empty fields beyond the header are ignored."},
		{Key: "records", Type: strictyaml.Text, Limits: "names with points between them", Default: "the file is an array of records, or has one record after another", Example: "data.items", Text: "This is the path to the records in JSON, with points between names."},
	},
}

// mappingSettings describes a mapping.
var mappingSettings = &strictyaml.Setting{
	Type: strictyaml.Mapping, ExactlyOne: []string{"node", "edge"},
	Text:    "A record becomes one node, or one edge.",
	Example: "{ node: Port, set: { unlocode: code, name: name } }",
	Keys: []*strictyaml.Setting{
		{Key: "node", Type: strictyaml.Text, Limits: "a node type of the schema", Default: "the mapping has edge", Example: "Port", Text: "This is the node type."},
		{Key: "edge", Type: strictyaml.Text, Limits: "an edge type of the schema", Default: "the mapping has node", Example: "CallsAt", Text: "This is the edge type."},
		{Key: "set", Type: strictyaml.Map, Default: "no properties", Example: `{ unlocode: code, opened: { column: opened_on, date: "02/01/2006" } }`,
			Text: "Each key is a property; the value is the name of a column, or a section.", Each: columnSettings},
		endSettings("from", "source"), endSettings("to", "target"),
		{Key: "where", Type: strictyaml.Map, Default: "all records", Example: "{ status: [planned, confirmed] }", Text: "Only records count whose columns have these texts.",
			Each: textsSettings("", "It has the text of the column, or a list of texts.", "", "[planned, confirmed]")},
	},
}

// endSettings describes an end of an edge.
func endSettings(key, what string) *strictyaml.Setting {
	return &strictyaml.Setting{
		Key: key, Type: strictyaml.Map, Default: "the mapping has node", Example: "{ Port: { unlocode: port } }",
		Text: "This is the node at the " + what + " of the edge. The one key is a node type; its value has the properties of its key, of a @unique, or id.",
		Each: &strictyaml.Setting{Type: strictyaml.Map, NotEmpty: true, Text: "The properties that identify the node.", Example: "{ unlocode: port }", Each: columnSettings},
	}
}

// textsSettings describes a text or a list of texts.
func textsSettings(key, text, standard, example string) *strictyaml.Setting {
	return &strictyaml.Setting{Key: key, Type: strictyaml.Union, Text: text, Default: standard, Example: example, Forms: []*strictyaml.Setting{
		{Type: strictyaml.Text, Limits: "any text", Text: "It is the one text.", Pattern: `^`, Example: `"-"`},
		{Type: strictyaml.List, NotEmpty: true, Repeats: true, Text: "It has several texts.", Example: `["-", "N/A"]`, Each: &strictyaml.Setting{Type: strictyaml.Text, Limits: "any text", Pattern: `^`, Text: "One of the texts.", Example: `"-"`}},
	}}
}

// columnSettings describes what a property is set to.
var columnSettings = &strictyaml.Setting{
	Type: strictyaml.Union, Text: "This is where the values come from.", Example: "code",
	Forms: []*strictyaml.Setting{
		{Type: strictyaml.Text, Limits: "a column of the source", Text: "It is the name of a column. In JSON it is a path, with points between names and indexes.", Example: "address.city"},
		{Type: strictyaml.Mapping, ExactlyOne: []string{"column", "value"}, Text: "It says how the values are written.", Example: `{ column: opened_on, date: "02/01/2006", "null": ["", "N/A"] }`,
			Keys: []*strictyaml.Setting{
				{Key: "column", Type: strictyaml.Text, Limits: "a column of the source", Default: "the section has value", Example: "opened_on", Text: "This is the name of the column."},
				{Key: "value", Type: strictyaml.Text, Limits: "any text", Pattern: `^`, Default: "the section has column", Example: "port", Text: "This text is the value of every record."},
				textsSettings("null", "These texts stand for null.", "no text", `["", "N/A"]`),
				{Key: "trim", Type: strictyaml.Bool, Default: "false", Example: "true", Text: "If this is true, blanks around a text are removed. Blanks around numbers, dates and times never count."},
				{Key: "date", Type: strictyaml.Text, Limits: "a layout of Go", Default: "2006-01-02", Example: `"02/01/2006"`, Text: "This is how a Date is written, as Go writes the day 2006-01-02: 02 is the day, 01 the month, 2006 the year."},
				{Key: "time", Type: strictyaml.Text, Limits: "a layout of Go, or one of the names", Default: "rfc3339, or 2006-01-02 15:04:05 with an offset", Example: `"02.01.2006 15:04"`,
					Text: "This is how a DateTime is written: rfc3339, unix, unix_ms or unix_us, or as Go writes the time 2006-01-02 15:04:05."},
				{Key: "zone", Type: strictyaml.Text, Limits: "a name of the time zone database", Default: "each text has its offset", Example: "Europe/Amsterdam", Text: "This is the time zone of texts without an offset, such as UTC."},
				{Key: "round", Type: strictyaml.Choice, OneOf: roundings, Default: "digits that would be lost are an error", Example: "microsecond", Text: "Numbers are rounded to integers, or times to this unit."},
				{Key: "number", Type: strictyaml.Text, Limits: "as the example", Default: "1234.56", Example: `"1.234,56"`, Text: "This is the number 1234.56 as the source writes it."},
				textsSettings("true", "These texts stand for true.", "true, in any case", "[t, yes]"),
				textsSettings("false", "These texts stand for false.", "false, in any case", "[f, no]"),
				{Key: "list", Type: strictyaml.Text, Limits: "any text", Pattern: `^`, Default: "lists of JSON and Parquet alone", Example: `";"`, Text: "This text is between the elements of a list; json says that the text is a JSON array."},
				{Key: "bytes", Type: strictyaml.Choice, OneOf: []string{"base64", "hex"}, Default: "bytes of Parquet alone", Example: "hex", Text: "This is how a Blob is written."},
				{Key: "unit", Type: strictyaml.Choice, OneOf: units, Default: "texts such as PT1H30M, and durations of Arrow", Example: "ms", Text: "The numbers of a Duration are in this unit."},
			}},
	},
}
