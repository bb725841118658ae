package strictyaml

import "github.com/omnigraph-go/omnigraph/internal/gq/diag"

// The codes of faults in a configuration file.
const (
	Syntax       diag.Code = "C1"  // not YAML, or a part of YAML that configuration must not use
	UnknownKey   diag.Code = "C2"  // an unknown key
	WrongType    diag.Code = "C3"  // such as a list where a string is wanted
	Missing      diag.Code = "C4"  // a required key or value is missing
	Duplicate    diag.Code = "C5"  // given twice
	UnknownName  diag.Code = "C6"  // a reference to something that is not declared
	BadValue     diag.Code = "C7"  // the right type, but not an allowed value
	MissingFile  diag.Code = "C8"  // the path does not exist or is the wrong kind of file
	ClearSecret  diag.Code = "C9"  // a secret written in the file itself
	Unsupported  diag.Code = "C10" // valid, but not supported by this server
	Contradicts  diag.Code = "C11" // two parts that contradict each other
	Accepted     diag.Code = "C12" // accepted for compatibility, without effect
	TooLarge     diag.Code = "C13" // over a limit of the reader
	Undetermined diag.Code = "C14" // the reader failed on the file
)

// Info documents a code.
type Info struct {
	Code    diag.Code
	Purpose string
}

// Codes returns every code with its purpose, in order.
func Codes() []Info {
	return []Info{
		{Syntax, "the file is not YAML, or uses a part of YAML (anchors, aliases, tags, merge keys, directives, several documents) that configuration does not take; or, of a .cedar file, it is not Cedar"},
		{UnknownKey, "a key that nothing reads"},
		{WrongType, "a value of another type than the key takes"},
		{Missing, "a required key or value is not there"},
		{Duplicate, "the same key, id or name twice"},
		{UnknownName, "a reference to something that is not declared"},
		{BadValue, "a value of the right type outside what is allowed"},
		{MissingFile, "a path that leads nowhere or to the wrong kind of file"},
		{ClearSecret, "a secret that stands in the file itself instead of in the environment"},
		{Unsupported, "a setting that is understood and that this server does not carry out"},
		{Contradicts, "two parts of the file that cannot hold together"},
		{Accepted, "a key that is taken for compatibility and has no effect"},
		{TooLarge, "the file is larger or nested deeper than the reader takes"},
		{Undetermined, "the YAML library failed on the file"},
	}
}
