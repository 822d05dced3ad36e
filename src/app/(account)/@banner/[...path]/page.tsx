import { FrameRefresh } from "../../../../ui/frame-refresh.tsx";
import { loadFrame } from "../../load-frame.ts";
import { PaymentBanner } from "../../payment-banner.tsx";

/** In a slot of its own: a layout keeps what it has shown from page to page, and a payment may have come since. */
export default async function Banner() {
  const frame = await loadFrame();
  return (
    <>
      {frame && <FrameRefresh state={frame.state} />}
      <PaymentBanner />
    </>
  );
}
