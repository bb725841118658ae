package auth

import "fmt"

// Mode is how a server decides who may do what.
type Mode uint8

// The modes.
const (
	Unauthenticated Mode = iota // anyone may do anything
	ReadsOnly                   // whoever holds a token may read
	Governed                    // tokens say who, policies say what
)

// String returns unauthenticated, reads only or governed.
func (m Mode) String() string { return [...]string{"unauthenticated", "reads only", "governed"}[m] }

// StartError says why a server does not start as it is configured.
type StartError struct {
	Found string // what is configured
	Fix   string
}

func (e *StartError) Error() string { return e.Found + "; " + e.Fix }

// Start chooses the mode: tokens says whether any could be verified, static ones or those
// of an issuer, policies whether there are any, and open is the flag --unauthenticated. The error is a *StartError.
func Start(tokens, policies, open bool) (Mode, error) {
	const addToken = "set " + TokensFileVar + " or " + TokenVarPrefix + "<ACTOR>, or server.oidc in cluster.yaml"
	switch {
	case tokens && open:
		return 0, &StartError{"there are tokens, and --unauthenticated would ignore them", "drop one of the two"}
	case policies && open:
		return 0, &StartError{"there is a policy, and --unauthenticated leaves no actor that it could speak of", "drop one of the two"}
	case tokens && policies:
		return Governed, nil
	case tokens:
		return ReadsOnly, nil
	case policies:
		return 0, &StartError{"there is a policy and no token, so nobody could be who it speaks of", addToken}
	case open:
		return Unauthenticated, nil
	}
	return 0, &StartError{"there are neither tokens nor a policy",
		fmt.Sprintf("%s, or start with --unauthenticated to let anyone do anything", addToken)}
}
