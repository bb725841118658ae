package engine

// NoEvent is the position before the first event of all proposals. No event has it as its ID.
const NoEvent = "00000000000000000000000000"

// EventRange selects events of proposals.
type EventRange struct {
	// After is the ID of an event, or NoEvent. The range contains the events after it. If After is
	// empty, the range begins after the last event that a cleanup removed.
	After string
	Limit int // maximum number of events; 0 for all
	// Latest asks for EventPage.Latest alone. After and Limit are then ignored.
	Latest bool
}

// EventPage lists events of proposals, in the order in which the graph stored them.
type EventPage struct {
	List []StoredEvent
	More bool // the range selects events after the last of List
	// Latest is the ID of the last event of the graph, NoEvent if the graph never had one. A cleanup
	// may have removed the event.
	Latest string
}

// StoredEvent is an event with the proposal to which it belongs.
type StoredEvent struct {
	ProposalEvent
	Proposal Proposal // the proposal as it is now, which may be later than the event
}

// State returns the state of the proposal right after the event.
func (e *StoredEvent) State() ProposalState {
	switch e.Kind {
	case EventMerged:
		return ProposalMerged
	case EventClosed:
		return ProposalClosed
	}
	return ProposalOpen
}

// EventsReclaimed says that a cleanup has removed events of proposals that a range selects, so that the
// list would have a gap.
type EventsReclaimed struct {
	After string // EventRange.After
	// Oldest is the ID of the last event that a cleanup removed. The graph has all events after it.
	Oldest string
}

func (e *EventsReclaimed) Error() string {
	return "a cleanup removed events of proposals after the event " + e.After + "; list the proposals again"
}

// Retryable implements [Error].
func (*EventsReclaimed) Retryable() bool { return false }
