import { getLocale, getTranslations } from "next-intl/server";
import { PaymentsTable, type ShownPayment } from "../../../ui/payments-table.tsx";

/** Payments in the reader's language, for their owner and for administrators. */
export async function PaymentList({ payments }: { payments: readonly ShownPayment[] }) {
  const [t, locale] = await Promise.all([getTranslations("billing.payments"), getLocale()]);
  return (
    <PaymentsTable
      payments={payments}
      locale={locale}
      labels={{
        payments: t("title"),
        date: t("date"),
        amount: t("amount"),
        status: t("status"),
        receipt: t("receipt"),
        openReceipt: t("openReceipt"),
        statuses: {
          paid: t("statuses.paid"),
          failed: t("statuses.failed"),
          refunded: t("statuses.refunded"),
          partly_refunded: t("statuses.partly_refunded"),
          disputed: t("statuses.disputed"),
        },
      }}
    />
  );
}
