import { PaymentBanner } from "../../payment-banner.tsx";

/** In a slot of its own: a layout keeps what it has shown from page to page, and a payment may have come since. */
export default function Banner() {
  return <PaymentBanner />;
}
