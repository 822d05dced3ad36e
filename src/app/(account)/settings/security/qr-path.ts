import { encode } from "uqr";

export type QrPath = { size: number; path: string };

/** A QR code as the path of an SVG, one unit for each module, drawn without inline styles or images. */
export function qrPath(text: string): QrPath {
  const { size, data } = encode(text, { border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size, path: path.join("") };
}
