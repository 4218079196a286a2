# The parity checks of a published quantum code, the hypergraph product of a [16,4,6] code with
# itself: [[400,16,6]].  The files are not part of this repository; ECHELON_DATA names their folder.
data=${ECHELON_DATA-$TESTS/../../../shared/data}
hx=$data/hgp_400_16_6_hx.pbm hz=$data/hgp_400_16_6_hz.pbm
[ -r "$hx" ] && [ -r "$hz" ] || skip "hgp_400_16_6_hx.pbm and _hz.pbm are not there"
code echelon gf2 info --rank - <"$hx"
code echelon gf2 info --rank - <"$hz"
cp "$hx" hx.pbm
cp "$hz" hz.pbm
echo "HX HZ^T:"
echelon gf2 transpose hz.pbm -o hzt.pbm
echelon gf2 mul hx.pbm hzt.pbm --check | code echelon gf2 info
echo "k = $((400 - $(echelon gf2 rank hx.pbm --check) - $(echelon gf2 rank hz.pbm --check)))"
echo "The rows of HZ are linear combinations of the vectors that commute with HX:"
code echelon gf2 nullspace hx.pbm --check -o k.npy
code echelon gf2 transpose k.npy -o kt.npy
echelon gf2 solve kt.npy hzt.pbm --check | code echelon gf2 info
