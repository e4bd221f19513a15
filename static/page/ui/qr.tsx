/** A QR code (ISO/IEC 18004), drawn as one path. */
import "../whole.ts";
import { encode } from "../../vendor/uqr.js";

/** The empty edge that readers need, in modules. */
const QUIET = 4;

export function QR({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { ecc: "M", border: QUIET });
  let path = "";
  data.forEach((row: boolean[], y: number) => {
    for (let x = 0; x < size; x++) {
      const from = x;
      while (row[x]) x++;
      if (x > from) path += `M${from} ${y}h${x - from}v1H${from}z`;
    }
  });
  return <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges"><path d={path} /></svg>;
}
