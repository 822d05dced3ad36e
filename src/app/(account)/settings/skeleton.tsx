import { Skeleton } from "../../../ui/skeleton.tsx";

export function SettingsSkeleton() {
  return (
    <>
      <Skeleton className="mb-6 h-7 w-40" />
      <div className="flex flex-col gap-6">
        <Skeleton className="h-72" />
        <Skeleton className="h-64" />
        <Skeleton className="h-52" />
        <Skeleton className="h-80" />
        <Skeleton className="h-72" />
      </div>
    </>
  );
}
