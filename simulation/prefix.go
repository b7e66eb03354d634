package simulation

// prefixCache is the blocks of prompts that a replica holds, as many as its KV cache has
// room for; the one used longest ago makes room. Blocks count as held from the arrival of
// their request on: those that arrive later are computed later. The zero value holds nothing.
type prefixCache struct {
	index map[uint64]int32
	// blocks are linked in a ring in the order of their use; blocks[0] is between the newest
	// and the oldest.
	blocks []block
	free   []int32
	// tokens is the number of tokens of all.
	tokens int
}

// block is a block of a prompt.
type block struct {
	name         uint64
	tokens       int
	older, newer int32
}

// mostCached bounds the tokens held where nothing else does.
const mostCached = 1 << 25

// held is how many blocks of a prefix it holds, from the beginning on.
func (p *prefixCache) held(prefix []uint64) int {
	for n, name := range prefix {
		if _, ok := p.index[name]; !ok {
			return n
		}
	}
	return len(prefix)
}

// use takes in the blocks of a prefix, as far as there is room for so many tokens. Earlier
// blocks are worth more, and so count as used after later ones.
func (p *prefixCache) use(prefix []uint64, blockTokens, room int) {
	if p.index == nil {
		p.index = make(map[uint64]int32)
		p.blocks = append(p.blocks, block{})
	}
	if blockTokens > room {
		return
	}
	for k := len(prefix) - 1; k >= 0; k-- {
		i, ok := p.index[prefix[k]]
		if ok {
			p.unlink(i)
		} else {
			i = p.add(prefix[k], blockTokens, room)
		}
		p.link(i)
	}
}

// add makes a block that is not linked yet, in the place of the oldest where there is no room.
func (p *prefixCache) add(name uint64, tokens, room int) int32 {
	i := none
	for p.tokens+tokens > room {
		if i != none {
			p.free = append(p.free, i)
		}
		i = p.blocks[0].newer // the ring is closed: next to the newest is the oldest
		p.unlink(i)
		p.tokens -= p.blocks[i].tokens
		delete(p.index, p.blocks[i].name)
	}
	if n := len(p.free); i == none && n > 0 {
		i = p.free[n-1]
		p.free = p.free[:n-1]
	}
	if i == none {
		i = int32(len(p.blocks)) //nolint:gosec // bounded by the KV cache
		p.blocks = append(p.blocks, block{})
	}
	p.blocks[i].name, p.blocks[i].tokens = name, tokens
	p.index[name] = i
	p.tokens += tokens
	return i
}

// link makes a block the newest.
func (p *prefixCache) link(i int32) {
	newest := p.blocks[0].older
	p.blocks[i].older, p.blocks[i].newer = newest, 0
	p.blocks[newest].newer = i
	p.blocks[0].older = i
}

func (p *prefixCache) unlink(i int32) {
	b := p.blocks[i]
	p.blocks[b.older].newer = b.newer
	p.blocks[b.newer].older = b.older
}
