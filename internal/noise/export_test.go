package noise

// UseTiles has a network look at tiles of another side.
func UseTiles(n *Network, side int) { n.side = side }
