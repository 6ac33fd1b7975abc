// Package tile computes an image tile by tile, so that scratch memory is bounded by the tile
// and not by the image, with the same bits for every tile.
package tile
