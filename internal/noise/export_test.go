package noise

// FindInTiles is Find in tiles of another side.
var FindInTiles = (*Network).find
