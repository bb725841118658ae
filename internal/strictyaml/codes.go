package strictyaml

import "github.com/omnigraph-go/omnigraph/internal/gq/diag"

// The codes of faults in a configuration file.
const (
	Syntax       diag.Code = "C1"  // not YAML, or a part of YAML that configuration must not use
	UnknownKey   diag.Code = "C2"  // an unknown key
	WrongType    diag.Code = "C3"  // such as a list where a string is wanted
	Missing      diag.Code = "C4"  // a required key or value is missing
	Duplicate    diag.Code = "C5"  // a key, id or name that occurs twice
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
	Code    diag.Code // the code of a diagnostic
	Purpose string    // what the code reports
}

// Codes returns every code with its purpose, in order.
func Codes() []Info {
	return []Info{
		{Syntax, "the file is not YAML, or it uses a part of YAML that configuration does not accept (anchors, aliases, tags, merge keys, directives, several documents), or a .cedar file is not Cedar"},
		{UnknownKey, "a key that this place in the file cannot have"},
		{WrongType, "a value that does not have the type of the key"},
		{Missing, "a required key or value is missing"},
		{Duplicate, "a key, id or name that occurs twice"},
		{UnknownName, "a reference to something that is not declared"},
		{BadValue, "a value that has the right type but is not allowed"},
		{MissingFile, "a path to a file that does not exist or has the wrong kind"},
		{ClearSecret, "a secret in the file itself instead of in an environment variable"},
		{Unsupported, "a setting that this server knows but does not support"},
		{Contradicts, "two parts of the file that contradict each other"},
		{Accepted, "a key that is accepted for compatibility and has no effect"},
		{TooLarge, "the file is too large or nested too deeply"},
		{Undetermined, "the YAML library failed on the file"},
	}
}
