import CoreData

// The versions of the framework. Each statement uses one of Apple's declarations as it is spelled and typed; the comment behind it names it, and
// COVERAGE.md counts them.

// MARK: Version numbers

private func versionNumbers() {
    let _: Double = NSCoreDataVersionNumber  // = NSCoreDataVersionNumber
    let _: Double = NSCoreDataVersionNumber10_4  // = NSCoreDataVersionNumber10_4
    let _: Double = NSCoreDataVersionNumber10_4_3  // = NSCoreDataVersionNumber10_4_3
    let _: Double = NSCoreDataVersionNumber10_5  // = NSCoreDataVersionNumber10_5
    let _: Double = NSCoreDataVersionNumber10_5_3  // = NSCoreDataVersionNumber10_5_3
    let _: Double = NSCoreDataVersionNumber10_6  // = NSCoreDataVersionNumber10_6
    let _: Double = NSCoreDataVersionNumber10_6_2  // = NSCoreDataVersionNumber10_6_2
    let _: Double = NSCoreDataVersionNumber10_6_3  // = NSCoreDataVersionNumber10_6_3
    let _: Double = NSCoreDataVersionNumber10_7  // = NSCoreDataVersionNumber10_7
    let _: Double = NSCoreDataVersionNumber10_7_2  // = NSCoreDataVersionNumber10_7_2
    let _: Double = NSCoreDataVersionNumber10_7_3  // = NSCoreDataVersionNumber10_7_3
    let _: Double = NSCoreDataVersionNumber10_7_4  // = NSCoreDataVersionNumber10_7_4
    let _: Double = NSCoreDataVersionNumber10_8  // = NSCoreDataVersionNumber10_8
    let _: Double = NSCoreDataVersionNumber10_8_2  // = NSCoreDataVersionNumber10_8_2
    let _: Double = NSCoreDataVersionNumber10_9  // = NSCoreDataVersionNumber10_9
    let _: Double = NSCoreDataVersionNumber10_9_2  // = NSCoreDataVersionNumber10_9_2
    let _: Double = NSCoreDataVersionNumber10_9_3  // = NSCoreDataVersionNumber10_9_3
    let _: Double = NSCoreDataVersionNumber10_10  // = NSCoreDataVersionNumber10_10
    let _: Double = NSCoreDataVersionNumber10_10_2  // = NSCoreDataVersionNumber10_10_2
    let _: Double = NSCoreDataVersionNumber10_10_3  // = NSCoreDataVersionNumber10_10_3
    let _: Double = NSCoreDataVersionNumber10_11  // = NSCoreDataVersionNumber10_11
    let _: Double = NSCoreDataVersionNumber10_11_3  // = NSCoreDataVersionNumber10_11_3
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_0  // = NSCoreDataVersionNumber_iPhoneOS_3_0
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_1  // = NSCoreDataVersionNumber_iPhoneOS_3_1
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_2  // = NSCoreDataVersionNumber_iPhoneOS_3_2
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_0  // = NSCoreDataVersionNumber_iPhoneOS_4_0
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_1  // = NSCoreDataVersionNumber_iPhoneOS_4_1
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_2  // = NSCoreDataVersionNumber_iPhoneOS_4_2
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_3  // = NSCoreDataVersionNumber_iPhoneOS_4_3
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_5_0  // = NSCoreDataVersionNumber_iPhoneOS_5_0
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_5_1  // = NSCoreDataVersionNumber_iPhoneOS_5_1
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_6_0  // = NSCoreDataVersionNumber_iPhoneOS_6_0
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_6_1  // = NSCoreDataVersionNumber_iPhoneOS_6_1
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_7_0  // = NSCoreDataVersionNumber_iPhoneOS_7_0
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_7_1  // = NSCoreDataVersionNumber_iPhoneOS_7_1
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_8_0  // = NSCoreDataVersionNumber_iPhoneOS_8_0
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_8_3  // = NSCoreDataVersionNumber_iPhoneOS_8_3
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_0  // = NSCoreDataVersionNumber_iPhoneOS_9_0
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_2  // = NSCoreDataVersionNumber_iPhoneOS_9_2
    let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_3  // = NSCoreDataVersionNumber_iPhoneOS_9_3
}
