// Package tensors takes the numbers of networks out of weight files, and rounds them as they are to be stored.
package tensors
