package embedded_test

import "flag"

// long reports whether the long forms of the tests run: -embedded.long.
func long() bool { return flag.Lookup("embedded.long").Value.String() == "true" }
