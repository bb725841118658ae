package seal

// stateLabel is authenticated with every state, so that a page token cannot be opened as a state.
var stateLabel = []byte("request state")

// maxState is the maximum length in characters of a text that OpenState accepts.
const maxState = 4 << 10

// SealState seals the state of a request that continues later. The text consists of letters, digits, -
// and _. OpenState accepts it if it has at most 4,096 characters.
func (s *Sealer) SealState(plain []byte) string { return s.seal(plain, stateLabel) }

// OpenState returns what SealState sealed. It reports whether the text is such a state.
func (s *Sealer) OpenState(text string) (plain []byte, ok bool) {
	if len(text) > maxState {
		return nil, false
	}
	return s.open(text, stateLabel)
}
