import { formatPrice } from "./price.ts";
import { Status, type Tone } from "./status.tsx";
import { Cell, Table } from "./table.tsx";
import { TextLink } from "./text-link.tsx";
import { Time } from "./time.tsx";

type PaymentStatus = "paid" | "failed" | "refunded" | "partly_refunded" | "disputed";

export type ShownPayment = {
  id: string;
  amount: number;
  currency: string;
  status: PaymentStatus;
  receiptUrl: string | null;
  occurredAt: Date;
};

type Labels = Record<"payments" | "date" | "amount" | "status" | "receipt" | "openReceipt", string> & {
  statuses: Record<PaymentStatus, string>;
};

const TONES: Record<PaymentStatus, Tone> = {
  paid: "good",
  failed: "bad",
  refunded: "neutral",
  partly_refunded: "neutral",
  disputed: "warn",
};

export function PaymentsTable({
  payments,
  locale,
  labels,
}: {
  payments: readonly ShownPayment[];
  locale: string;
  labels: Labels;
}) {
  return (
    <Table
      label={labels.payments}
      columns={[
        { label: labels.date },
        { label: labels.amount, align: "end" },
        { label: labels.status, from: "sm" },
        { label: labels.receipt, from: "sm" },
      ]}
    >
      {payments.map(({ id, status, receiptUrl, occurredAt, ...price }) => {
        const state = <Status tone={TONES[status]}>{labels.statuses[status]}</Status>;
        const receipt = receiptUrl && <TextLink href={receiptUrl}>{labels.openReceipt}</TextLink>;
        return (
          <tr key={id}>
            {/* More than two columns are too wide for a phone; the amount alone is not broken. */}
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
