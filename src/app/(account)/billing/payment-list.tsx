import { getLocale, getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { PaymentView } from "../../../operations/payments/payment-view.ts";
import { formatPrice } from "../../../ui/price.ts";
import { Status, type Tone } from "../../../ui/status.tsx";
import { Cell, Table } from "../../../ui/table.tsx";
import { TextLink } from "../../../ui/text-link.tsx";
import { Time } from "../../../ui/time.tsx";

type Payment = z.output<typeof PaymentView>;

const TONES: Record<Payment["status"], Tone> = {
  paid: "good",
  failed: "bad",
  refunded: "neutral",
  partly_refunded: "neutral",
  disputed: "warn",
};

/** Payments in the reader's language, for their owner and for administrators. */
export async function PaymentList({ payments }: { payments: readonly Payment[] }) {
  const [t, locale] = await Promise.all([getTranslations("billing.payments"), getLocale()]);
  return (
    <Table
      label={t("title")}
      columns={[
        { label: t("date") },
        { label: t("amount"), align: "end" },
        { label: t("status"), from: "sm" },
        { label: t("receipt"), from: "sm" },
      ]}
    >
      {payments.map(({ id, status, receiptUrl, occurredAt, ...price }) => {
        const state = <Status tone={TONES[status]}>{t(`statuses.${status}`)}</Status>;
        const receipt = receiptUrl && <TextLink href={receiptUrl}>{t("openReceipt")}</TextLink>;
        return (
          <tr key={id}>
            {/* More than two columns are too wide for a phone; only the amount does not wrap. */}
            <Cell className="max-sm:wrap-anywhere max-sm:[&_*]:whitespace-normal">
              <Time at={occurredAt} />
              <span className="flex flex-wrap gap-x-4 sm:hidden">
                {state}
                {receipt}
              </span>
            </Cell>
            <Cell align="end">{formatPrice(locale, price)}</Cell>
            <Cell from="sm">{state}</Cell>
            <Cell from="sm">{receipt}</Cell>
          </tr>
        );
      })}
    </Table>
  );
}
