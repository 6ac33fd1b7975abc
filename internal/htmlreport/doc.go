// Package htmlreport writes a page to judge a restoration by: before and after under a slider,
// the difference, the noise and the kernel as pictures, the residuals beside their bound, and
// what is proven, in one HTML file that fetches nothing.
//
// A page is bounded however large the photographs and however many: see Budget. Equal pages
// give equal bytes. Text is escaped wherever it comes from, and a policy in the page forbids
// every script and style but its own, and every request.
package htmlreport
