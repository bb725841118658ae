package auth

import "fmt"

// Mode is the way that a server authorizes requests.
type Mode uint8

// The modes of a server.
const (
	Unauthenticated Mode = iota // any client may do anything
	ReadsOnly                   // an actor with a valid token may read
	Governed                    // tokens identify the actor, and policies decide
)

// String returns "unauthenticated", "reads only" or "governed".
func (m Mode) String() string { return [...]string{"unauthenticated", "reads only", "governed"}[m] }

// StartError says why a server cannot start with its configuration.
type StartError struct {
	Found string // the faulty part of the configuration
	Fix   string // what to change
}

func (e *StartError) Error() string { return e.Found + "; " + e.Fix }

// Start chooses the mode. The argument `tokens` says whether the server can verify tokens, either
// static ones or those of an issuer. The argument `policies` says whether there are policies. The
// argument `open` is the flag --unauthenticated. The error is a *StartError.
func Start(tokens, policies, open bool) (Mode, error) {
	const addToken = "set " + TokensFileVar + " or " + TokenVarPrefix + "<ACTOR>, or an authentication method under server in cluster.yaml, such as oidc"
	switch {
	case tokens && open:
		return 0, &StartError{"there are tokens, but --unauthenticated would ignore them", "remove the tokens or the flag"}
	case policies && open:
		return 0, &StartError{"there is a policy, but with --unauthenticated requests have no actor that it could apply to", "remove the policy or the flag"}
	case tokens && policies:
		return Governed, nil
	case tokens:
		return ReadsOnly, nil
	case policies:
		return 0, &StartError{"there is a policy, but no token, so no request could have an actor that it names", addToken}
	case open:
		return Unauthenticated, nil
	}
	return 0, &StartError{"there are no tokens and no policy",
		fmt.Sprintf("%s, or start with --unauthenticated to let anyone do anything", addToken)}
}
