package trace

// Request is one request to a fleet.
type Request struct {
	// At is the moment of arrival, in seconds after the start.
	At float64
	// Workload is the index of the fleet's workload that it is for.
	Workload int
	// Input is the number of prompt tokens, ≥ 0, Output of tokens to generate, ≥ 1.
	Input, Output int
	// Prefix names the blocks of the prompt that others may share, from its beginning on:
	// of two prompts of a workload, as many blocks are equal as their prefixes have names in
	// common before the first that differs. nil = none. It is shared and not to be changed.
	Prefix []uint64
	// BlockTokens is the tokens of one block of Prefix. All blocks together may have more
	// than Input, where the last one is not full.
	BlockTokens int
}
